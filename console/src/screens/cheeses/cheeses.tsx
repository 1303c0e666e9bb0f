import { PageTitle } from '../../parts/page.tsx';

export default function Cheeses() {
  return <PageTitle title="Cheeses" />;
}
