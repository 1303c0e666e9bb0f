import { runFolders } from '../groups.ts';

runFolders(['unit', 'gates']);
