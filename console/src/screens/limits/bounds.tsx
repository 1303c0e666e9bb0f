/** Every limit of GET /limits, in words. */
import { Table } from '@mantine/core';
import type { Result } from '../../../../client/src/index.ts';
import { showNumber } from '../../parts/text/format.ts';

type Limits = Result<'listLimits'>;

const units: Readonly<Record<string, string>> = {
  Bytes: 'bytes',
  Seconds: 's',
  Hours: 'h',
  Kilograms: 'kg',
  Characters: 'characters',
  Pixels: 'pixels',
};

/** `cheeseNameCharacters` is "cheese name", with the unit `characters`. */
function describeBound(name: string): { readonly label: string; readonly unit: string } {
  const unit = Object.keys(units).find(
    (suffix) => name.endsWith(suffix) || name.endsWith(`${suffix}AtLeast`),
  );
  const label = name
    .replace(unit ?? '', '')
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .trim();
  return { label, unit: unit === undefined ? '' : (units[unit] ?? '') };
}

function Rows({
  title,
  rows,
}: {
  readonly title: string;
  readonly rows: readonly (readonly [label: string, value: string])[];
}) {
  return (
    <Table aria-label={title} captionSide="top" withRowBorders={false} verticalSpacing={3}>
      <Table.Caption ta="left" fw={600} c="var(--mantine-color-text)">
        {title}
      </Table.Caption>
      <Table.Tbody>
        {rows.map(([label, value]) => (
          <Table.Tr key={`${label} ${value}`}>
            <Table.Td>{label}</Table.Td>
            <Table.Td ta="right" className="figure">
              {value}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

const orNone = (limit: number | null) => (limit === null ? 'no limit' : showNumber(limit));

export function Bounds({ limits }: { readonly limits: Limits }) {
  const { plans, sessionPlan, addressLimits, loginLimits, ordersPerHour, bounds } = limits;
  return (
    <div className="columns">
      <Rows
        title="Plans"
        rows={Object.entries(plans).map(([plan, { perHour, burst }]) => [
          plan === sessionPlan ? `${plan} (also each customer session)` : plan,
          `${perHour === null ? 'no limit' : `${showNumber(perHour)} an hour`}, ${showNumber(burst)} a second`,
        ])}
      />
      <Rows title="Orders" rows={[['of one credential, in an hour', orNone(ordersPerHour)]]} />
      <Rows
        title="One client IP, in a minute"
        rows={[
          ['requests without a credential', showNumber(addressLimits.perMinute)],
          ['of these, logins and registrations', showNumber(addressLimits.accountsPerMinute)],
          ['pages, images, health checks', showNumber(addressLimits.publicPerMinute)],
        ]}
      />
      <Rows
        title="Failed logins"
        rows={[
          ['of a username from one client IP, in 15 minutes', showNumber(loginLimits.pair)],
          ['from one client IP, in 15 minutes', showNumber(loginLimits.address)],
          ['of a username, in an hour', showNumber(loginLimits.username)],
        ]}
      />
      <Rows
        title="Requests and data"
        rows={Object.entries(bounds).map(([name, value]) => {
          const { label, unit } = describeBound(name);
          return [label, `${showNumber(value)} ${unit}`];
        })}
      />
    </div>
  );
}
