import { runFolders } from '../groups.ts';

runFolders(['instances'], 1, 3);
