import { runFolders } from '../groups.ts';

runFolders(['fuzz', 'upgrade']);
