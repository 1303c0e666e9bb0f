import { runFolders } from '../groups.ts';

runFolders(['api'], 1, 2);
