/** A credential by its name, as a link to the screen where it is managed. */
import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { describeActor, listMentions } from '../../parts/text/mentions.ts';
import { useNames } from '../../parts/text/names.ts';

interface Props {
  /** `key:12`, `client:ab12/customer:5` or `customer:5` */
  readonly id: string;
  /** `account:3`; null for a session. */
  readonly account: string | null;
}

/** Keys are on the page of their account. */
function pathOf({ id, account }: Props): string {
  const [kind = '', number = ''] = id.split(':');
  return kind === 'key' && account !== null
    ? `/access/${account.split(':')[1]}`
    : kind === 'customer'
      ? `/customers/${number}`
      : '/access/clients';
}

export function CredentialLink(props: Props) {
  const { id } = props;
  const name = describeActor(id, useNames(listMentions(id)));
  return (
    <Anchor component={Link} href={pathOf(props)} size="sm" title={id} underline="always">
      {name}
    </Anchor>
  );
}
