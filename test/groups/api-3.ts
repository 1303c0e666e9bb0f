import { runFolders } from '../groups.ts';

runFolders(['api'], 3, 6);
