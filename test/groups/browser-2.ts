import { runFolders } from '../groups.ts';

runFolders(['browser', 'client'], 2, 3);
