import { runFolders } from '../groups.ts';

runFolders(['api'], 5, 6);
