import { runFolders } from '../groups.ts';

runFolders(['api'], 2, 2);
