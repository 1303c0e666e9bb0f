/** Tiers of customers, by the total of their delivered orders. */
import type { TierThresholds } from '../settings/config.ts';

export const tiers = ['bronze', 'silver', 'gold', 'platinum'] as const;
export type Tier = (typeof tiers)[number];

/** @param thresholds in the currency of the shop */
export function chooseTier(deliveredCents: number, thresholds: TierThresholds): Tier {
  const reached = (['platinum', 'gold', 'silver'] as const).find(
    (tier) => deliveredCents >= Math.round(thresholds[tier] * 100),
  );
  return reached ?? 'bronze';
}
