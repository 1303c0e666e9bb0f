import { runAreas } from '../groups.ts';

runAreas(['events', 'webhooks', 'mail'], 1, 2);
