import './cheeses.css';
import { Link } from 'wouter';
import { Empty } from '../../parts/page.tsx';
import type { ScreenProps } from '../../parts/screen.ts';
import { readId } from '../../parts/text/ids.ts';
import { CheesePage } from './cheese-page.tsx';
import { CheeseList } from './list/cheese-list.tsx';
import { NewCheese } from './new-cheese.tsx';

export default function Cheeses({ id }: ScreenProps) {
  if (id === undefined) {
    return <CheeseList />;
  }
  if (id === 'new') {
    return <NewCheese />;
  }
  const cheese = readId(id);
  return cheese === undefined ? (
    <Empty title="There is no such cheese">
      <Link href="/cheeses">All cheeses</Link>
    </Empty>
  ) : (
    <CheesePage key={id} id={cheese} />
  );
}
