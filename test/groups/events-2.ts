import { runFolders } from '../groups.ts';

runFolders(['events', 'webhooks', 'mail'], 2, 2);
