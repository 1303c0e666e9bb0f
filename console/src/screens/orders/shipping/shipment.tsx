/** Carrier and tracking of one order: with the shipping, and changed until the delivery. */
import { Anchor, Button, Group, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Order } from '../../../../../client/src/index.ts';
import { useApi, useCurd } from '../../../data/queries.ts';
import { fieldErrors, useAction } from '../../../parts/action.ts';
import { heldOf } from '../held.ts';
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

interface Known {
  readonly carrier: string;
  readonly number: string;
  readonly url: string;
}

function ShipmentForm({ order: { id, status }, known }: { readonly order: Order; readonly known: Known }) {
  const curd = useCurd();
  const { run, isRunning } = useAction();
  const [carrier, setCarrier] = useState(known.carrier);
  const [number, setNumber] = useState(known.number);
  const [url, setUrl] = useState(known.url);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const isNew = status === 'approved';

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    setErrors({});
    heldOf(id)?.undo();
    const shipment = {
      carrier: carrier.trim() || null,
      trackingNumber: number.trim() || null,
      trackingUrl: url.trim() || null,
    };
    await run(
      isNew ? `Order ${id} is shipped.` : 'The shipment is changed.',
      async () => {
        try {
          await (isNew ? curd.orders.ship(id, shipment) : curd.orders.replaceShipment(id, shipment));
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
          value={carrier}
          error={errors.carrier}
          onChange={({ currentTarget }) => setCarrier(currentTarget.value)}
        />
        <TextInput
          size="xs"
          label="Tracking number"
          maxLength={80}
          autoComplete="off"
          value={number}
          error={errors.trackingNumber}
          onChange={({ currentTarget }) => setNumber(currentTarget.value)}
        />
        <TextInput
          size="xs"
          flex="1 1 200px"
          label="Tracking page"
          placeholder="https://..."
          maxLength={500}
          value={url}
          error={errors.trackingUrl}
          onChange={({ currentTarget }) => setUrl(currentTarget.value)}
        />
        <Button size="xs" mt={25} type="submit" variant={isNew ? 'filled' : 'default'} loading={isRunning}>
          {isNew ? 'Ship with tracking' : 'Change'}
        </Button>
      </Group>
    </form>
  );
}
