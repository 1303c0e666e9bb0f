import { PageTitle } from '../../parts/page.tsx';

export default function Access() {
  return <PageTitle title="Access" />;
}
