import { PageTitle } from '../../parts/page.tsx';

export default function Stock() {
  return <PageTitle title="Stock" />;
}
