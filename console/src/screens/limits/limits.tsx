import { PageTitle } from '../../parts/page.tsx';

export default function Limits() {
  return <PageTitle title="Limits" />;
}
