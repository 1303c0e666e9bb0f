/** The time of a request by its parts: a bar, and the figures below it. */
import { showNumber } from '../../parts/text/format.ts';

interface Props {
  readonly milliseconds: number;
  readonly parts: Readonly<Record<'credential' | 'limits' | 'body' | 'handler', number>>;
}

const kinds = [
  { name: 'credential', title: 'Credential', color: 'var(--mantine-color-blue-6)' },
  { name: 'limits', title: 'Limits', color: 'var(--mantine-color-orange-6)' },
  { name: 'body', title: 'Body', color: 'var(--mantine-color-grape-6)' },
  { name: 'handler', title: 'Handler', color: 'var(--mantine-color-teal-6)' },
] as const;

export function PartsBar({ milliseconds, parts }: Props) {
  return (
    <div>
      <div className="parts-bar" aria-hidden="true">
        {kinds.map(({ name, color }) => (
          <span key={name} style={{ flexGrow: parts[name], background: color }} />
        ))}
      </div>
      <dl className="facts" aria-label="Milliseconds">
        {kinds.map(({ name, title, color }) => (
          <div key={name}>
            <dt>
              <span className="parts-key" style={{ background: color }} aria-hidden="true" /> {title}
            </dt>
            <dd className="figure">{showNumber(parts[name])} ms</dd>
          </div>
        ))}
        <div>
          <dt>Until the response began</dt>
          <dd className="figure">{showNumber(milliseconds)} ms</dd>
        </div>
      </dl>
    </div>
  );
}
