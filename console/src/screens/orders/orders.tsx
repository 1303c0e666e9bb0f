import { PageTitle } from '../../parts/page.tsx';

export default function Orders() {
  return <PageTitle title="Orders" />;
}
