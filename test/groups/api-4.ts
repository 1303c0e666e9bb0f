import { runFolders } from '../groups.ts';

runFolders(['api'], 4, 6);
