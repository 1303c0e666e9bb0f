import { runFolders } from '../groups.ts';

runFolders(['auth', 'database', 'stock']);
