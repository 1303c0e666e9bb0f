/** Changes of cheeses that other areas follow. The cheese is locked. */
import type { HookPoint } from '../hooks/hooks.ts';
import type { Cheese } from './schemas.ts';

export const cheeseDeleted: HookPoint<Cheese> = { name: 'cheese deleted' };
export const cheeseStatusChanged: HookPoint<Cheese> = { name: 'status of a cheese changed' };
export const cheesePortionsChanged: HookPoint<Cheese> = { name: 'portions of a cheese changed' };
