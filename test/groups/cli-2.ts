import { runFolders } from '../groups.ts';

runFolders(['cli'], 2, 3);
