import { runFolders } from '../groups.ts';

runFolders(['faults', 'files'], 2, 2);
