/** Who did something, by name: "ada (Console)" for `client:console/customer:5`. The id is shown on hover. */
import { Copyable } from './copyable.tsx';
import { describeActor, listMentions } from './mentions.ts';
import { useNames } from './names.ts';

export function Actor({ actor }: { readonly actor: string }) {
  const names = useNames(listMentions(actor));
  const text = describeActor(actor, names);
  return text === actor ? actor : <Copyable value={actor}>{text}</Copyable>;
}
