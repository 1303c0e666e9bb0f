import { PageTitle } from '../../parts/page.tsx';

export default function Operations() {
  return <PageTitle title="Operations" />;
}
