import { PageTitle } from '../../parts/page.tsx';

export default function Events() {
  return <PageTitle title="Events" />;
}
