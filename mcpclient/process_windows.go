package mcpclient

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// ownGroup keeps the console's Ctrl+C from the child, and lowers its priority.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.BELOW_NORMAL_PRIORITY_CLASS,
		HideWindow:    true,
	}
}

// lowerPriority does nothing; ownGroup has set the priority.
func lowerPriority(*os.Process) {}

// terminateGroup does nothing: Windows has no corresponding signal.
func terminateGroup(*os.Process) {}

// killGroup kills the leader; closing its job kills the children.
func killGroup(leader *os.Process) { _ = leader.Kill() }

// reaper is a job object. The system kills its processes when the last handle is
// closed, which happens when LifeHub ends for any reason.
type reaper struct{ job windows.Handle }

func newReaper(leader *os.Process, _ string) (reaper, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return reaper{}, err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		_ = windows.CloseHandle(job)
		return reaper{}, err
	}
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(leader.Pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, process)
		_ = windows.CloseHandle(process)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return reaper{}, err
	}
	return reaper{job: job}, nil
}

func (g reaper) end() { _ = windows.CloseHandle(g.job) }
