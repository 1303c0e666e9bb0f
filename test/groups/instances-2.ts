import { runFolders } from '../groups.ts';

runFolders(['instances'], 2, 3);
