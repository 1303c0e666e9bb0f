import { PageTitle } from '../../parts/page.tsx';

export default function Webhooks() {
  return <PageTitle title="Webhooks" />;
}
