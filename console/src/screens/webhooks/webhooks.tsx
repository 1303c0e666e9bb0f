import { Empty, PageTitle } from '../../parts/page.tsx';
import type { ScreenProps } from '../../parts/screen.ts';
import { EndpointList } from './endpoint-list.tsx';
import { EndpointPage } from './endpoint-page.tsx';

export default function Webhooks({ id }: ScreenProps) {
  if (id === undefined) {
    return <EndpointList />;
  }
  if (!/^\d{1,15}$/.test(id)) {
    return (
      <>
        <PageTitle title="Webhooks" />
        <Empty title="There is no such webhook" />
      </>
    );
  }
  return <EndpointPage key={id} id={Number(id)} />;
}
