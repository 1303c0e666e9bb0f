import { PageTitle } from '../../parts/page.tsx';

export default function Approvals() {
  return <PageTitle title="Approvals" />;
}
