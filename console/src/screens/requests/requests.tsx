import type { ScreenProps } from '../../parts/screen.ts';
import { RequestList } from './request-list.tsx';
import { RequestPage } from './request-page.tsx';

export default function Requests({ id }: ScreenProps) {
  return id === undefined ? <RequestList /> : <RequestPage key={id} id={decodeURIComponent(id)} />;
}
