import { runAreas } from '../groups.ts';

runAreas(['events', 'webhooks', 'mail'], 2, 2);
