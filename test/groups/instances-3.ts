import { runFolders } from '../groups.ts';

runFolders(['instances'], 3, 3);
