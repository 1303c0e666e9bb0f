import { runFolders } from '../groups.ts';

runFolders(['oauth', 'console', 'mcp']);
