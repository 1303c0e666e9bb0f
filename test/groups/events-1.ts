import { runFolders } from '../groups.ts';

runFolders(['events', 'webhooks', 'mail'], 1, 2);
