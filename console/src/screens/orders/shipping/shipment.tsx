/** Carrier and tracking of one order: with the shipping, and changed until the delivery. */
import { Anchor, Button, Group, Text, TextInput } from '@mantine/core';
import { type FormEvent, useEffect, useState } from 'react';
import type { Order } from '../../../../../client/src/index.ts';
import { useApi, useCurd } from '../../../data/queries.ts';
import { fieldErrors, useAction } from '../../../parts/action.ts';
import { heldOf, useHeld } from '../held.ts';
import { ship, useTransition } from '../transitions.ts';
import {
  isEmptyShipment,
  keepShipment,
  readShipment,
  type ShipmentFields,
  shipmentProblem,
  toShipment,
} from './shipment-draft.ts';
import { readCarrier } from './tracking.ts';

export function Shipment({ order }: { readonly order: Order }) {
  const { id, status } = order;
  const { data } = useApi([`order ${id}`, 'shipment'], (curd) => curd.orders.getShipment(id));
  if (data === undefined || status === 'placed' || status === 'cancelled') {
    return null;
  }
  const key = `${status} ${data.carrier} ${data.trackingNumber} ${data.trackingUrl}`;
  return (
    <section className="card" aria-label="Shipment">
      {status === 'delivered' ? (
        <Tracking {...data} />
      ) : (
        <ShipmentForm
          key={key}
          order={order}
          known={{
            carrier: data.carrier ?? (status === 'approved' ? readCarrier().carrier : ''),
            number: data.trackingNumber ?? '',
            url: data.trackingUrl ?? '',
          }}
        />
      )}
    </section>
  );
}

interface TrackingProps {
  readonly carrier: string | null;
  readonly trackingNumber: string | null;
  readonly trackingUrl: string | null;
}

/** "Swiss Post 99.00.1", with a link to the page of the carrier. */
export function Tracking({ carrier, trackingNumber, trackingUrl }: TrackingProps) {
  const text = [carrier, trackingNumber].filter(Boolean).join(' ');
  return (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      {trackingUrl === null ? (
        text || 'No carrier and no tracking number'
      ) : (
        <Anchor size="sm" href={trackingUrl} target="_blank" rel="noreferrer">
          {text || trackingUrl}
        </Anchor>
      )}
    </Text>
  );
}

function ShipmentForm({ order, known }: { readonly order: Order; readonly known: ShipmentFields }) {
  const { id, status } = order;
  const curd = useCurd();
  const make = useTransition();
  const { run, isRunning } = useAction();
  const isNew = status === 'approved';
  const [fields, setFields] = useState(() => (isNew ? readShipment(id) : null) ?? known);
  const [errors, setErrors] = useState<Record<string, string>>({});
  // What waits to be sent is what the fields show.
  const isHeld = useHeld(id) !== undefined;
  const set = (changes: Partial<ShipmentFields>) => setFields({ ...fields, ...changes });

  const isEdited = (['carrier', 'number', 'url'] as const).some((name) => fields[name] !== known[name]);
  useEffect(() => {
    if (!isNew) {
      return;
    }
    keepShipment(id, fields);
    // A carrier that nobody has entered is sent from this page only.
    return isEdited ? undefined : () => keepShipment(id, null);
  }, [id, isNew, isEdited, fields]);

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    const problem = isNew ? shipmentProblem(id) : null;
    setErrors(problem === null ? {} : { trackingUrl: problem });
    if (isNew) {
      await make(ship, order);
      return;
    }
    heldOf(id)?.undo();
    await run(
      'The shipment is changed.',
      async () => {
        try {
          await curd.orders.replaceShipment(id, toShipment(fields));
        } catch (error) {
          setErrors(fieldErrors(error) ?? {});
          throw error;
        }
      },
      'orders',
      `order ${id}`,
    );
  }

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Group align="start" gap="xs">
        <TextInput
          size="xs"
          label="Carrier"
          maxLength={80}
          value={fields.carrier}
          readOnly={isNew && isHeld}
          error={errors.carrier}
          onChange={({ currentTarget }) => set({ carrier: currentTarget.value })}
        />
        <TextInput
          size="xs"
          label="Tracking number"
          maxLength={80}
          autoComplete="off"
          value={fields.number}
          readOnly={isNew && isHeld}
          error={errors.trackingNumber}
          onChange={({ currentTarget }) => set({ number: currentTarget.value })}
        />
        <TextInput
          size="xs"
          flex="1 1 200px"
          label="Tracking page"
          placeholder="https://..."
          maxLength={500}
          value={fields.url}
          readOnly={isNew && isHeld}
          error={errors.trackingUrl}
          onChange={({ currentTarget }) => set({ url: currentTarget.value })}
        />
        <Button
          size="xs"
          mt={25}
          type="submit"
          variant={isNew ? 'filled' : 'default'}
          loading={isRunning}
          disabled={isNew && (isHeld || isEmptyShipment(fields))}
        >
          {isNew ? 'Ship with tracking' : 'Change'}
        </Button>
      </Group>
    </form>
  );
}
