import { runFolders } from '../groups.ts';

runFolders(['browser', 'client'], 1, 3);
