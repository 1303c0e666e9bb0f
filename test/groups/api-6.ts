import { runFolders } from '../groups.ts';

runFolders(['api'], 6, 6);
