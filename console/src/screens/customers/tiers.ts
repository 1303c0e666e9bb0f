/** The tiers of customers, and what the next one needs. */
import { useStatus } from '../../data/status.ts';

export const tiers = ['bronze', 'silver', 'gold', 'platinum'] as const;
export type Tier = (typeof tiers)[number];

export const tierColors = { bronze: 'orange', silver: 'gray', gold: 'yellow', platinum: 'teal' } as const;

/** The total in the currency of the shop from which on a customer has a tier; bronze from 0. */
type Thresholds = Readonly<Partial<Record<Tier, number>>>;

/** Reads the thresholds from the settings of the server; undefined until they are read. */
export function useThresholds(): Thresholds | undefined {
  const { data } = useStatus();
  const value = data?.settings.find(({ variable }) => variable === 'CURD_TIERS')?.value;
  return value == null ? undefined : (JSON.parse(value) as Thresholds);
}

/** Undefined for customers of the last tier. */
export function nextTier(tier: Tier, total: number, thresholds: Thresholds) {
  const next = tiers[tiers.indexOf(tier) + 1];
  const from = next === undefined ? undefined : thresholds[next];
  return next === undefined || from === undefined || from <= 0
    ? undefined
    : { tier: next, missing: Math.max(0, from - total), share: Math.min(100, (total / from) * 100) };
}
