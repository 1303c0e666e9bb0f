import { PageTitle } from '../../parts/page.tsx';

export default function Customers() {
  return <PageTitle title="Customers" />;
}
