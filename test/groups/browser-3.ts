import { runFolders } from '../groups.ts';

runFolders(['browser', 'client'], 3, 3);
