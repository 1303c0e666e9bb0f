import { runFolders } from '../groups.ts';

runFolders(['cli'], 3, 3);
