/** A cheese as a shop shows it. */
import { Badge, Group, Stack, Text } from '@mantine/core';
import { ImageIcon } from '@radix-ui/react-icons';
import { readNumber } from '../../../parts/fields/number.ts';
import { showMoney } from '../../../parts/text/format.ts';
import { flagFields, nameOfField, portionText, showField } from '../fields.ts';
import { type FormValues, gramRules, parseNumbers } from './form-values.ts';
import { pieceCents } from './piece-price.ts';

interface Props {
  readonly values: FormValues;
  /** The thumbnail of the primary image. */
  readonly image: { readonly source: string; readonly caption: string } | null;
}

export function Preview({ values, image }: Props) {
  const { name, category, tags, status, origin } = values;
  const { pricePerKg = null, ageMonths = null } = parseNumbers(values);
  const facts = [
    category,
    origin,
    ageMonths === null || ageMonths === 0 ? '' : `${showField(ageMonths, 'ageMonths')} old`,
  ];
  return (
    <section className="card" aria-label="Preview" style={{ padding: 0, overflow: 'hidden' }}>
      <div className="preview-image">
        {image === null ? (
          <ImageIcon width={40} height={40} opacity={0.3} aria-hidden="true" />
        ) : (
          <img src={image.source} alt={image.caption} />
        )}
      </div>
      <Stack gap={4} p="md">
        <Group justify="space-between" wrap="nowrap" align="start">
          <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
            {name === '' ? 'Name' : name}
          </Text>
          <Text fw={600} className="figure" style={{ whiteSpace: 'nowrap' }}>
            {pricePerKg === null ? 'price on request' : `${showField(pricePerKg, 'pricePerKg')} / kg`}
          </Text>
        </Group>
        <Text size="sm" c="dimmed">
          {facts.filter((fact) => fact !== '').join(' · ')}
        </Text>
        <Pieces portions={values.portions} pricePerKg={pricePerKg} />
        <Group gap={4}>
          {flagFields
            .filter((field) => values[field])
            .map((field) => (
              <Badge key={field} size="sm" tt="none" color="green" variant="light">
                {nameOfField(field)}
              </Badge>
            ))}
          {tags.map((tag) => (
            <Badge key={tag} size="sm" variant="default" tt="none" fw={400}>
              {tag}
            </Badge>
          ))}
        </Group>
        {status === 'available' ? null : (
          <Text size="sm" fw={600}>
            {status === 'sold' ? 'Sold' : 'Not available yet'}
          </Text>
        )}
      </Stack>
    </section>
  );
}

interface PiecesProps {
  readonly portions: FormValues['portions'];
  readonly pricePerKg: number | null;
}

/** The pieces that can be chosen, with their prices. Those without a weight yet are left out. */
function Pieces({ portions, pricePerKg }: PiecesProps) {
  const pieces = portions.flatMap(({ grams, name }) => {
    const weight = readNumber(grams, gramRules).value;
    return weight === null ? [] : [{ grams: weight, name: name.trim() }];
  });
  return pieces.length === 0 ? null : (
    <ul aria-label="Pieces of the preview" className="pieces">
      {pieces.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two weights may be equal while they are written.
        <li key={index}>
          {portionText(piece)}
          {pricePerKg === null ? '' : `, ${showMoney(pieceCents(pricePerKg, piece.grams) / 100)}`}
        </li>
      ))}
    </ul>
  );
}
