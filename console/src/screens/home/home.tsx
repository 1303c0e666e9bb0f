import { PageTitle } from '../../parts/page.tsx';

export default function Home() {
  return <PageTitle title="Home" />;
}
