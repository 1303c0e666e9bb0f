import { PageTitle } from '../../parts/page.tsx';

export default function Import() {
  return <PageTitle title="Import" />;
}
