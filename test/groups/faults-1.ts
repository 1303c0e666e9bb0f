import { runFolders } from '../groups.ts';

runFolders(['faults', 'files'], 1, 2);
