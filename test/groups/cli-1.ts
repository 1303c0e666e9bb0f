import { runFolders } from '../groups.ts';

runFolders(['cli'], 1, 3);
